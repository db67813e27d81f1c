document.querySelectorAll("canvas[data-scene]:not([data-view])").forEach(function (canvas) {
  "use strict";
  const scene = JSON.parse(canvas.dataset.scene);
  const pen = canvas.getContext("2d");
  const radians = Math.PI / 180;
  const dashes = { solid: [], dotted: [0.1, 15], dashed: [18, 14] };
  const light = [0.35, -0.45, 0.82];
  let azimuth = scene.azimuth, elevation = scene.elevation;

  // Along the view: to the right, upwards, towards the eye.
  function axes() {
    const a = azimuth * radians, e = elevation * radians;
    return [[-Math.sin(a), Math.cos(a), 0],
            [-Math.sin(e) * Math.cos(a), -Math.sin(e) * Math.sin(a), Math.cos(e)],
            [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a), Math.sin(e)]];
  }
  function dot(p, q) { return p[0] * q[0] + p[1] * q[1] + p[2] * q[2]; }
  function points(flat) {
    const found = [];
    for (let k = 0; k < flat.length; k += 3) found.push(flat.slice(k, k + 3));
    return found;
  }
  function shaded(colour, corners, alpha) {
    const u = corners[2].map((x, i) => x - corners[0][i]), v = corners[3].map((x, i) => x - corners[1][i]);
    const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
    const bright = 0.7 + 0.45 * Math.abs(dot(n, light)) / (Math.sqrt(dot(n, n)) || 1);
    const parts = [1, 3, 5].map(k => Math.min(255, Math.round(parseInt(colour.slice(k, k + 2), 16) * bright)));
    return "rgba(" + parts.join(",") + "," + alpha + ")";
  }
  const squares = scene.surfaces.flatMap(surface => surface.squares.map(flat => {
    const corners = points(flat);
    const middle = [0, 1, 2].map(i => corners.reduce((sum, p) => sum + p[i], 0) / 4);
    const dotted = surface.style === "dotted";
    return { corners, middle, dotted, colour: surface.colour, fill: shaded(surface.colour, corners, dotted ? 0.18 : 0.9) };
  }));
  const near = 0.12;  // what is as near to a point of the surface does not hide it
  const lines = scene.lines.map(line => ({ ...line, points: points(line.points) }));
  const parts = lines.flatMap(line => line.points.slice(1).map((end, k) => {
    const ends = [line.points[k], end];
    return { line, ends, middle: ends[0].map((x, i) => (x + ends[1][i]) / 2) };
  }));

  function draw() {
    const [right, up, eye] = axes(), size = canvas.width * 0.24;
    const at = p => [canvas.width / 2 + size * dot(p, right), canvas.height / 2 - size * dot(p, up)];
    const path = corners => {
      pen.beginPath();
      corners.forEach(p => pen.lineTo(...at(p)));
    };
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.lineCap = "round";
    pen.lineJoin = "round";
    box(path, at);
    let drawn = 0;
    parts.forEach((part, k) => {  // the dashes of a line go on from part to part
      if (k && parts[k - 1].line !== part.line) drawn = 0;
      part.offset = drawn;
      const [one, other] = part.ends.map(at);
      drawn += Math.hypot(other[0] - one[0], other[1] - one[1]);
    });
    const depth = item => dot(item.middle, eye) + (item.line ? near : 0);
    [...squares, ...parts].sort((one, other) => depth(one) - depth(other)).forEach(item => {
      if (item.line) return stroke(path, item.ends, item.line, item.offset, 1);
      path(item.corners);
      pen.closePath();
      pen.fillStyle = item.fill;
      pen.fill();
      if (item.dotted) spot(at(item.middle), item.colour, 2.2);
    });
    lines.forEach(line => {  // what is behind the surface is seen faintly
      if (line.points.length === 1) return spot(at(line.points[0]), line.colour, 7);
      stroke(path, line.points, line, 0, 0.3);
    });
  }
  function stroke(path, corners, line, offset, alpha) {
    path(corners);
    pen.setLineDash(dashes[line.style]);
    pen.lineDashOffset = offset;
    pen.lineWidth = 7;
    pen.strokeStyle = line.colour;
    pen.globalAlpha = alpha;
    pen.stroke();
    pen.globalAlpha = 1;
    pen.setLineDash([]);
  }
  function spot(place, colour, radius) {
    pen.beginPath();
    pen.arc(place[0], place[1], radius, 0, 2 * Math.PI);
    pen.fillStyle = colour;
    pen.fill();
  }
  function box(path, at) {
    pen.lineWidth = 1.5;
    pen.strokeStyle = "#888888";
    [0, 1, 2].forEach(axis => [-1, 1].forEach(s => [-1, 1].forEach(t => {
      const end = sign => { const p = [s, t]; p.splice(axis, 0, sign); return p; };
      path([end(-1), end(1)]);
      pen.stroke();
    })));
    pen.fillStyle = getComputedStyle(canvas).color;  // that of the page around, light in dark mode
    pen.textAlign = "center";
    pen.font = "italic 34px serif";
    [[0, -1.28, -1.12], [1.28, 0, -1.12], [-1.12, -1.12, 0.1]].forEach((p, i) => pen.fillText(scene.names[i], ...at(p)));
    pen.font = "24px serif";
    scene.ends.forEach((ends, i) => ends.forEach((end, k) => {
      const p = [[0, -1.14, -1.06], [1.14, 0, -1.06], [-1.08, -1.08, 0]][i];
      p[i] = 2 * k - 1;
      pen.fillText(end, ...at(p));
    }));
  }
  function turn(right, up) {
    azimuth -= right;
    elevation = Math.max(-90, Math.min(90, elevation + up));
    canvas.dataset.view = azimuth.toFixed(1) + " " + elevation.toFixed(1);
    draw();
  }
  canvas.addEventListener("pointerdown", event => canvas.setPointerCapture(event.pointerId));
  canvas.addEventListener("pointermove", event => {
    if (event.buttons) turn(event.movementX * 0.5, event.movementY * 0.5);
  });
  canvas.addEventListener("keydown", event => {
    const step = { ArrowLeft: [-5, 0], ArrowRight: [5, 0], ArrowUp: [0, -5], ArrowDown: [0, 5] }[event.key];
    if (!step) return;
    event.preventDefault();
    turn(...step);
  });
  turn(0, 0);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new MutationObserver(draw).observe(document.body, { attributes: true });  // a switch of the page
});
