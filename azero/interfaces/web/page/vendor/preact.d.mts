export const Fragment: any, h: any, render: any;
