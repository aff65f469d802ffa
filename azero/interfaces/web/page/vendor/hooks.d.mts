export const useContext: any, useEffect: any, useLayoutEffect: any, useMemo: any, useReducer: any, useRef: any, useState: any;
