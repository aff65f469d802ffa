"""The pages of the site, taken from where they lie in the repository, so that a link is right on disk and on the site.

MkDocs calls these functions (`hooks` in mkdocs.yml).
"""

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
PAGES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "benchmarks/README.md",
    "checkpoints/README.md",
    "docs/**/*.md",
    "notes/*.md",
)
LINKED = (
    "LICENSE",
    "configs/*.toml",
    "docs/**/*.png",
    "docs/pictures/*.gif",
    "docs/pictures/*.svg",
    "docs/site.css",
    "docs/figures.toml",
    "examples/*.ipynb",
    "examples/*.py",
    "examples/cluster/*",
    "examples/searches/*.py",
)
"""Files that pages may show or link to. A link to any other file is an error in a strict build."""


def expand(*patterns: str) -> list[str]:
    """Returns the paths of files, from the repository's root, in alphabetical order for each pattern."""
    return [path.relative_to(ROOT).as_posix() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Puts the pages that a pattern in `nav` means in its place."""
    for section in config.nav or []:
        for title, entry in section.items() if isinstance(section, dict) else ():
            if isinstance(entry, str) and "*" in entry:
                section[title] = expand(entry)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Returns the pages, and what they link to, under their paths from the root, with the files of the theme."""
    of_theme = [file for file in files if file.src_dir != config.docs_dir]
    of_pages = (File(path, str(ROOT), config.site_dir, config.use_directory_urls) for path in expand(*PAGES, *LINKED))
    return Files([*of_theme, *of_pages])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lets a link to a folder lead to the page that its README.md is."""
    return re.sub(r"(\]\([\w./-]+/)\)", r"\1README.md)", markdown)
