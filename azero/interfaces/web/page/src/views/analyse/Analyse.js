// Analyse: what one agent, or two, think of the position on the board.

import { defaultAgent } from "../../game/session.js";
import { html, useApp, useChanges, useEffect, useMemo, useState } from "../../html.js";
import { useKeys } from "../../keys.js";
import { CandidateTable, rowsOf } from "../../panel/CandidateTable.js";
import { GameChart, Gauge } from "../../panel/GameChart.js";
import { Headline, opinionOf, opinionOfResult, rateText, reasonText, spokenAnalysis } from "../../panel/Headline.js";
import { actionsOf, nextMarks } from "../../panel/overlays.js";
import { Navigation, NodeEditor, useTreeKeys, VariationTree } from "../../panel/variations.js";
import { formatCount } from "../../score.js";
import { settings } from "../../settings.js";
import { Icon } from "../../shell/controls.js";
import { PanelFrame, Stage } from "../../shell/layout.js";
import { RecordDialog } from "../../shell/RecordDialog.js";
import { analystOf } from "./analyst.js";
import { AgentPicker, EmptyTable, LimitPicker, MarksPicker, overlayOf, StartStop, shortName } from "./controls.js";

export function Analyse() {
  const app = useApp();
  const { session } = app;
  const analyst = useAnalyst(app);
  const [active, setActive] = useState(null); // the move under the pointer or the focus
  const [sort, setSort] = useState("visits");
  const [isEditing, setEditing] = useState(false);
  const { position, node } = session;
  useEffect(() => setActive(null), [node]);

  const [one, two] = analyst.slots;
  const isTwo = analyst.second !== null;
  const first = useMemo(() => rowsOf(one.shown), [one.shown]);
  const second = useMemo(() => (isTwo ? rowsOf(two.shown) : null), [two.shown, isTwo]);
  const play = async (row) => {
    let at = session.node;
    for (const move of actionsOf(row)) at = session.tree.play(at, move);
    await session.goTo(at);
  };
  const playMove = (move) => {
    const row = [...first, ...(second ?? [])].find((each) => each.move === move);
    return row && session.isSettled ? play(row) : undefined;
  };
  useAnalyseKeys({ first, play, setEditing });
  if (!position) return null;

  const overlay = session.isSettled ? overlayOf({ position, first, second, active, update: one.shown }) : {};
  const opinion =
    position.result && session.isSettled ? opinionOfResult(position.result) : one.shown ? opinionOf(one.shown) : null;
  return html`
    <${Stage} overlay=${overlay} gauge=${html`<${Gauge} opinion=${opinion} />`} />
    <${PanelFrame} label="Analysis" bar=${html`<${Bar} />`}>
      <${Controls} />
      <${Headline} opinion=${opinion} first=${isTwo ? shortName(analyst.first) : null} />
      <${LineChart} />
      <div class="table-place">
        <${EmptyTable} hasRows=${first.length > 0 || second?.length > 0} />
        ${
          (first.length > 0 || second?.length > 0) &&
          !position.result &&
          html`<${CandidateTable} ...${{ first, second, sort, onSort: setSort, active, onActive: setActive, onPlay: playMove }} />`
        }
      </div>
      <${VariationTree} />
      <${NodeEditor} isOpen=${isEditing} onOpen=${setEditing} />
    </${PanelFrame}>`;
}

/** The analyst of the session, which searches while this view is shown and the page is visible. */
function useAnalyst(app) {
  const { session } = app;
  const analyst = useChanges(analystOf(session));
  useEffect(() => {
    const sync = () => analyst.sync();
    const isOver = session.subscribe(sync);
    document.addEventListener("visibilitychange", sync);
    analyst.begin();
    return () => {
      isOver();
      document.removeEventListener("visibilitychange", sync);
      analyst.end();
    };
  }, [analyst]);
  useEffect(() => {
    const judges = session.judges.map((agent) => agent.id);
    const first = judges.includes(app.agent) ? app.agent : defaultAgent(session.agents);
    const second = judges.includes(analyst.second) ? analyst.second : null;
    if (first !== analyst.first || second !== analyst.second) analyst.set({ first, second });
    else analyst.sync();
  }, [app.agent, session.agents]);
  return analyst;
}

function Controls() {
  const { session, setAgent } = useApp();
  const analyst = analystOf(session);
  const [one, two] = analyst.slots;
  const isTwo = analyst.second !== null;
  const pickSecond = (second) => analyst.set({ second });
  const reason = reasonText(one.reason);
  const rates = isTwo
    ? [one, two].map(
        ({ shown }, k) =>
          html`<small key=${k}><span class="swatch ${k ? "second" : ""}"></span> ${formatCount(shown?.simulations ?? 0)}<span class="hidden"> simulations</span> </small>`,
      )
    : html`${rateText(one.shown)}${reason && html`<small> ${reason}</small>`}`;
  return html`<div class="controls ${isTwo ? "two" : ""}">
    <${StartStop} name="Analyse" isRunning=${analyst.isRunning} isOff=${!analyst.first || analyst.isOver} onToggle=${analyst.toggle} />
    <${AgentPicker} chosen=${analyst.first} onPick=${setAgent} swatch=${isTwo ? "first" : ""} />
    ${isTwo && html`<${AgentPicker} label="Second agent" chosen=${analyst.second} onPick=${pickSecond} swatch="second" />`}
    <${LimitPicker} />
    <span class="rate">${rates}</span>
  </div>`;
}

function LineChart() {
  const { session } = useApp();
  const analyst = analystOf(session);
  const { game, tree, node, position, ply } = session;
  const line = [tree.root, ...tree.lineOf(node)];
  const opinions = line.map((each) => analyst.opinionAt(each));
  const others = analyst.second && line.map((each) => analyst.opinions.opinion(analyst.key(analyst.second, each)));
  const caption = position.result
    ? position.result.text
    : `move ${ply}, ${game.players[position.to_move ?? 0].name} to play`;
  return html`<${GameChart}
    opinions=${opinions}
    second=${others}
    ply=${ply}
    length=${line.length - 1}
    isOver=${analyst.resultAt(line.at(-1)) !== null}
    caption=${caption}
    onPly=${(at) => session.goTo(line[at])}
  />`;
}

function Bar() {
  const { session, openDialog } = useApp();
  const analyst = analystOf(session);
  const isTwo = analyst.second !== null;
  const compare = () => analyst.set({ second: isTwo ? null : otherAgent(session, analyst.first) });
  return html`
    <${Navigation} />
    <span class="end bar-tools">
      <${MarksPicker} />
      <button class="quiet" aria-pressed=${String(isTwo)} disabled=${session.judges.length < 2} onClick=${compare}><${Icon} name="branch" />Compare</button>
      <button class="quiet" onClick=${() => openDialog(RecordDialog)}><${Icon} name="save" />Save</button>
    </span>`;
}

/** The agent to compare with: a search by random games if there is one. */
function otherAgent(session, first) {
  const others = session.judges.filter((agent) => agent.id !== first);
  return (others.find((agent) => agent.kind === "uct") ?? others[0])?.id ?? null;
}

function useAnalyseKeys({ first, play, setEditing }) {
  const { session, announce } = useApp();
  const analyst = analystOf(session);
  const best = first.find((row) => row.isBest);
  const flip = (name) => settings.set(name, !settings.get(name));
  const speak = () => {
    const { game, position } = session;
    const update = analyst.slots[0].shown;
    announce(
      spokenAnalysis({
        players: game.players,
        toMove: position.to_move ?? 0,
        agent: shortName(analyst.first),
        update,
        rows: first,
      }),
    );
  };
  const hasOwners = Boolean(session.agents.find(({ id }) => id === analyst.first)?.has_ownership);
  useTreeKeys(() => setEditing(true));
  useKeys({
    space: ["start or stop", () => analyst.toggle()],
    b: ["play the best move", () => (best && session.isSettled ? void play(best) : false)],
    v: ["marks", () => settings.set("marks", nextMarks(settings.get("marks")))],
    o: ["ownership", () => flip("showsOwnership"), hasOwners],
    p: ["prior", () => settings.set("heat", settings.get("heat") === "prior" ? "none" : "prior")],
    l: ["line of the best move", () => flip("showsLine")],
    "shift+v": ["speak the analysis", speak],
  });
}
