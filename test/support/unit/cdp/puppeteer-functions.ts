/** Functions that Puppeteer runs in its own world and that only read, in the spelling of its versions 22 to 25. */
export const PUPPETEER_READS = {
  connected:
    "async (element) => {\n  if (!element.isConnected) {\n    return 'Node is detached from document';\n  }\n  if (element.nodeType !== Node.ELEMENT_NODE) {\n    return 'Node is not of type HTMLElement';\n  }\n  return;\n}",
  svg: 'element => {\n  return element instanceof SVGElement;\n}',
  visible:
    'async (element, threshold) => { const visibleRatio = await new Promise(resolve => { const observer = new IntersectionObserver(entries => { resolve(entries[0].intersectionRatio); observer.disconnect(); }); observer.observe(element); }); return threshold === 1 ? visibleRatio === 1 : visibleRatio > threshold; }',
  box: 'element => { if (!(element instanceof Element)) { return null; } return [...element.getClientRects()].map(rect => { return { x: rect.x, y: rect.y, width: rect.width, height: rect.height }; }); }',
  viewport:
    '() => { return { documentWidth: document.documentElement.clientWidth, documentHeight: document.documentElement.clientHeight, }; }',
  start: 'poller => {\n  void poller.start();\n}',
  result: 'poller => {\n  return poller.result();\n}',
};

/** The document, in any world. */
export const PUPPETEER_DOCUMENT = '() => {\n  return document;\n}';
/** The first element for a selector. */
export const PUPPETEER_QUERY =
  '(element, selector, { cssQuerySelector }) => { return cssQuerySelector(element, selector); }';
