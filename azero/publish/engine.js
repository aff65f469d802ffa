// FAKE: tic-tac-toe
const L=[[0,1,2],[3,4,5],[6,7,8],[0,3,6],[1,4,7],[2,5,8],[0,4,8],[2,4,6]];
export class EngineError extends Error { name="EngineError" }
const win=(h,p)=>L.some(l=>l.every(c=>h.findIndex(a=>a===c)>=0&&h.indexOf(c)%2===p));
const out=h=>win(h,0)?1:win(h,1)?-1:h.length===9?0:null;
const leg=h=>out(h)!==null?[]:[0,1,2,3,4,5,6,7,8].filter(a=>!h.includes(a));
export class Engine {
  static async open(d){ const e=new Engine(); e.manifest=d.manifest; e.history=[]; return e }
  reset(){this.history=[]} play(a){this.history=[...this.history,a]} goTo(h){this.history=[...h]}
  legal(){return leg(this.history)} toMove(){return this.outcome()===null?this.history.length%2:null} player(){return this.history.length%2}
  outcome(){return out(this.history)} score(){return out(this.history)} key(){return BigInt(this.history.reduce((x,a,k)=>x+(k%2+1)*3**a,0))}
  planes(){const p=new Float32Array(27);const m=this.history.length%2;for(let c=0;c<9;c++){const k=this.history.indexOf(c);p[k<0?18+c:k%2===m?c:9+c]=1}return p}
  judge(){return null} settings(){return{c:1.4}}
  search({simulations=100}={}){
    const root=[...this.history], m=root.length%2, s=m?-1:1; const st=new Map(leg(root).map(a=>[a,{N:0,W:0}]));
    const one=()=>{const acts=[...st];let best=acts[0],bs=-9;for(const x of acts){const q=x[1].N?x[1].W/x[1].N+Math.sqrt(2*Math.log(S.simulations+1)/x[1].N):9+Math.random();if(q>bs){bs=q;best=x}}
      let h=[...root,best[0]];while(out(h)===null){const l=leg(h);h.push(l[Math.floor(Math.random()*l.length)])}best[1].N++;best[1].W+=s*out(h);S.simulations++};
    const S={simulations:0,target:simulations,get isDone(){return this.simulations>=this.target},isFull:false,isProven:false,run(n){for(let k=0;k<n&&!this.isDone;k++)one();return this.isDone},
      report(){const moves=[...st].map(([action,{N,W}])=>({action,visits:N,value:N?W/N:0,prior:1/st.size,proven:null,provenPlies:null,pv:[action]})).sort((a,b)=>b.visits-a.visits);
        return{simulations:S.simulations,evaluations:0,toMove:m,value:moves[0].value,proven:null,isFull:false,moves}}};
    return S }
}
export async function atLevel(engine,level,seed,slice){const s=engine.search({simulations:50});while(!s.run(20))await slice?.();const r=s.report();return{...r,action:r.moves[0].action,level}}
