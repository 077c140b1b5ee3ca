// Drawing on an arm's chart besides its curve.

import { colour } from "./plots.js";

export const middle = (cell) => (cell.from + cell.to) / 2;

/** Lines behind the curve: the learnt cap, and the mean of all the arm's rewards. */
export function behind(chart, arm, common) {
  const ratio = window.uPlot.pxRatio;
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  if (arm.mean !== null) {
    const y = chart.valToPos(arm.mean, "y", true);
    line(ctx, [left, y, left + width, y], colour("--muted"), ratio, [1.5 * ratio, 3 * ratio]);
  }
  if (arm.cap && arm.cap.showings + 0.5 <= common.x[1]) {
    const x = chart.valToPos(Math.max(common.x[0], arm.cap.showings + 0.5), "x", true);
    line(ctx, [x, top, x, top + height], colour("--cap"), 2 * ratio, [6 * ratio, 4 * ratio]);
  }
  ctx.restore();
}

function line(ctx, [x0, y0, x1, y1], stroke, width, dash = []) {
  ctx.beginPath();
  ctx.setLineDash(dash);
  ctx.strokeStyle = stroke;
  ctx.lineWidth = width;
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

/** Observed means: a dot for each cell, with its interval if there is no curve with a band. */
export function seen(chart, arm) {
  const ratio = window.uPlot.pxRatio;
  const { left, top, width, height } = chart.bbox;
  const { ctx } = chart;
  const bars = !arm.curve?.length;
  const ink = colour(bars ? "--policy" : "--text");
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  for (const cell of arm.cells ?? []) {
    if (cell.mean === null) continue;
    const x = chart.valToPos(middle(cell), "x", true);
    const y = chart.valToPos(cell.mean, "y", true);
    if (bars && cell.low !== null && cell.high !== null) {
      const low = chart.valToPos(cell.low, "y", true);
      const high = chart.valToPos(cell.high, "y", true);
      line(ctx, [x, low, x, high], ink, 1.5 * ratio);
      for (const end of [low, high])
        line(ctx, [x - 3 * ratio, end, x + 3 * ratio, end], ink, 1.5 * ratio);
    }
    ctx.beginPath();
    ctx.setLineDash([]);
    ctx.arc(x, y, (bars ? 3.5 : 2.5) * ratio, 0, 2 * Math.PI);
    ctx.fillStyle = bars ? ink : colour("--surface");
    ctx.strokeStyle = ink;
    ctx.lineWidth = 1.25 * ratio;
    ctx.fill();
    ctx.stroke();
  }
  ctx.restore();
}
