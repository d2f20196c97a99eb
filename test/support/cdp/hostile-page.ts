/** Runs in the page before anything else. Its counts do not depend on how long something takes. */
const WATCH = `
  const seen = { events: [], calls: {}, traps: {}, mutations: [], names: Object.getOwnPropertyNames(window).length };
  const count = (where, what) => { where[what] = (where[what] ?? 0) + 1; };
  for (const type of ['__playwright_global_listeners_check__', '__playwright_mark_target__', '__playwright_unmark_target__', 'focus', 'blur',
    'focusin', 'focusout', 'visibilitychange', 'resize', 'scroll', 'mousedown', 'mouseup', 'mouseover', 'click', 'keydown', 'input', 'change',
    'beforeinput', 'selectionchange', 'pagehide', 'pageshow', 'freeze', 'error', 'unhandledrejection', 'message', 'animationstart'])
    for (const target of [window, document])
      target.addEventListener(type, (event) => seen.events.push([event.type, event.target.nodeName ?? 'window', target === window, event.isTrusted].join()), true);
  const wrap = (object, name) => {
    const own = object[name];
    object[name] = function (...args) { count(seen.calls, name); return own.apply(this, args); };
  };
  for (const name of ['getBoundingClientRect', 'getClientRects', 'scrollIntoView', 'checkVisibility', 'matches', 'closest', 'getAttribute'])
    wrap(Element.prototype, name);
  for (const name of ['querySelector', 'querySelectorAll', 'elementFromPoint', 'elementsFromPoint', 'createElement', 'createTreeWalker', 'evaluate'])
    wrap(Document.prototype, name);
  for (const name of ['requestAnimationFrame', 'getComputedStyle', 'setTimeout', 'queueMicrotask', 'matchMedia']) wrap(window, name);
  for (const name of ['addEventListener', 'dispatchEvent', 'removeEventListener']) wrap(EventTarget.prototype, name);
  for (const name of ['debug', 'log', 'warn', 'error']) wrap(console, name);
  for (const [object, name] of [[window, 'innerWidth'], [window, 'innerHeight'], [Node.prototype, 'isConnected'], [Node.prototype, 'textContent'],
    [Document.prototype, 'documentElement'], [Node.prototype, 'ownerDocument'], [HTMLInputElement.prototype, 'checked']]) {
    const { get, ...rest } = Object.getOwnPropertyDescriptor(object, name);
    Object.defineProperty(object, name, { ...rest, get() { count(seen.traps, name); return get.call(this); } });
  }
  for (const name of ['element', 'success', 'box', 'stop'])
    Object.defineProperty(Object.prototype, name, { configurable: true, get() { count(seen.traps, name); }, set(value) {
      Object.defineProperty(this, name, { value, writable: true, configurable: true, enumerable: true }); } });
  Error.prepareStackTrace = () => { count(seen.traps, 'stack'); return 'stack'; };
  const observer = new MutationObserver((records) => seen.mutations.push(...records.map(({ type, target, attributeName }) => [type, target.nodeName, attributeName].join())));
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  new PerformanceObserver((list) => list.getEntries().forEach(({ entryType }) => count(seen.calls, entryType)))
    .observe({ entryTypes: ['resource', 'mark', 'measure', 'layout-shift'] });
  window.report = () => {
    // The browser sends some events only with the next frame, in any order, and merges several of one kind.
    const joined = (event) => /^(selectionchange|scroll),/.test(event);
    // An element that scrolls under the pointer gets its event with the next frame, if it is still there.
    const told = seen.events.filter((event) => !event.startsWith('mouseover,DIV,'));
    const events = told.filter((event, at, all) => !joined(event) || all.indexOf(event) === at).sort();
    const copy = { ...seen, events, mutations: seen.mutations.sort(), names: Object.getOwnPropertyNames(window).length - seen.names, focus: document.hasFocus(), shown: document.visibilityState,
      size: [innerWidth, innerHeight, outerWidth, outerHeight, screenX, screenY, history.length, devicePixelRatio, visualViewport.scale,
        screen.width, screen.height, screen.availHeight, screen.colorDepth, navigator.webdriver, document.hidden],
      media: ['(hover: hover)', '(pointer: fine)', '(prefers-reduced-motion: reduce)', '(prefers-color-scheme: dark)', '(update: fast)']
        .map((query) => matchMedia(query).matches) };
    return JSON.stringify(copy);
  };`;

/** A page that observes itself. `report()` returns what it has seen. */
export const HOSTILE_PAGE = `<!doctype html><html><head><script>${WATCH}</script></head><body>
  <input id="name"><input type="checkbox"><select><option>small<option>large</select>
  <div style="height:2000px"></div><button onclick="document.title = 'clicked'">Send</button></body></html>`;
