export const createContext: any, Fragment: any, h: any, render: any;
