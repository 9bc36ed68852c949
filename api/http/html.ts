/** Templates of HTML in which every value is text: it cannot leave its place in an element or a quoted attribute. */

/** Markup that was written by us. Whatever is not Html is escaped when it enters a template. */
export interface Html {
  readonly markup: string
}

type Value = Html | readonly Html[] | string | number | undefined

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { markup: parts.reduce((markup, part, index) => markup + markupOf(values[index - 1]) + part) }
}

/** A carriage return would be read back as a line feed, and a null character cannot be written in HTML at all. */
const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
  '\0': '\ufffd',
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\r\0]/g, character => entities[character] ?? '')
}

/** For text between tags that holds no control characters, as JSON does not: its quotes may stand. */
export function escapeText(text: string): string {
  return /[&<>]/.test(text) ? text.replace(/[&<>]/g, character => entities[character] ?? '') : text
}

function markupOf(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(part => part.markup).join('')
}
