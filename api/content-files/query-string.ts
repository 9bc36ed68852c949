/** Query strings, read and written as Django does it: `URLSearchParams` differs in `*`, `~` and in what it drops. */

export interface Argument {
  name: string
  value: string
}

/** Of what stands behind the question mark, as sent: only `&` separates, `flag` is `flag=`, nothing is an error. */
export function parseQuery(query: string): Argument[] {
  const parts = query.split('&').filter(part => part !== '')
  return parts.map(part => {
    const at = part.indexOf('=')
    if (at < 0) return { name: decodeField(part), value: '' }
    return { name: decodeField(part.slice(0, at)), value: decodeField(part.slice(at + 1)) }
  })
}

/** Sorted by name; values of one name keep their order. */
export function writeQuery(query: readonly Argument[]): string {
  const sorted = query.toSorted((a, b) => compareCodePoints(a.name, b.name))
  return sorted.map(({ name, value }) => `${encode(name)}=${encode(value)}`).join('&')
}

export function valuesOf(query: readonly Argument[], name: string): string[] {
  return query.filter(argument => argument.name === name).map(argument => argument.value)
}

/** The last one wins. */
export function lastValue(query: readonly Argument[], name: string): string | undefined {
  return query.findLast(argument => argument.name === name)?.value
}

/** Each of the names has the one value given, or none where that is undefined. */
export function withValues(query: readonly Argument[], values: Record<string, string | undefined>): Argument[] {
  const others = query.filter(({ name }) => !Object.hasOwn(values, name))
  const set = Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]))
  return [...others, ...set]
}

/** `%zz` stays as it is, and bytes that are no UTF-8 become U+FFFD. */
export function decodeBytes(text: string): string {
  if (!/[%\x80-\xff]/.test(text)) return text
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
  return Buffer.from(bytes, 'latin1').toString()
}

function decodeField(text: string): string {
  return decodeBytes(text.replaceAll('+', ' '))
}

function encode(text: string): string {
  const encoded = encodeURIComponent(text).replaceAll('%20', '+')
  return encoded.replace(/[!'()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** UTF-16 sorts what lies beyond U+FFFF before U+E000; UTF-8 keeps the order of code points. */
function compareCodePoints(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}
