/** HTML templates that escape every value, so that it cannot leave its element or its quoted attribute. */

/** Trusted markup. Other values are escaped in a template. */
export interface Html {
  readonly markup: string
}

type Value = Html | readonly (Html | string)[] | string | number | undefined

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { markup: parts.reduce((markup, part, index) => markup + markupOf(values[index - 1]) + part) }
}

/** HTML parsers read a carriage return as a line feed, and null characters cannot be written. */
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

/** Quotes stay unescaped in text between tags. The text, such as JSON, must not have control characters. */
export function escapeText(text: string): string {
  return /[&<>]/.test(text) ? text.replace(/[&<>]/g, character => entities[character] ?? '') : text
}

function markupOf(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escapeHtml(value)
  if (typeof value === 'number') return String(value)
  return 'markup' in value ? value.markup : value.map(markupOf).join('')
}
