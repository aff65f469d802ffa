"""Results that are certain: proofs carried up the tree, looked for at new nodes and at the root."""
