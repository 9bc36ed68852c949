/** The element by which a page of another site shows a view in a frame. */

/** The frame may run scripts of this service and read from it, and do nothing to the page around it. */
export function embedCode(address: string, name: string): string {
  const attributes = {
    src: address,
    title: name,
    width: '100%',
    height: '600',
    style: 'border: 0',
    loading: 'lazy',
    sandbox: 'allow-scripts allow-same-origin',
    referrerpolicy: 'no-referrer',
  }
  const texts = Object.entries(attributes).map(([key, value]) => `${key}="${escaped(value)}"`)
  return `<iframe ${texts.join(' ')}></iframe>`
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, found => entities[found] ?? found)
}
