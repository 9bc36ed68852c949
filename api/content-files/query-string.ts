/** Reads the query of a request for content files: its arguments and its page. */

interface Argument {
  name: string
  value: string
}

/** No filter or page has a longer value. Other arguments are only kept in links. */
export const valueCharactersMax = 8_192

/**
 * Parses the text behind the question mark: only `&` separates, `flag` is `flag=`, and nothing is an error. A page has
 * some twenty links with this query, so it is sorted and encoded once.
 */
export class Query {
  readonly all: readonly Argument[]
  readonly #byName: ReadonlyMap<string, readonly Argument[]>
  #encoded: readonly EncodedName[] | undefined

  constructor(text: string) {
    const parts = text.split('&').filter(part => part !== '')
    this.all = parts.map(readArgument)
    this.#byName = Map.groupBy(this.all, ({ name }) => name)
  }

  values(name: string): readonly string[] {
    return this.#byName.get(name)?.map(({ value }) => value) ?? []
  }

  /** The last value takes precedence. */
  last(name: string): string | undefined {
    return this.#byName.get(name)?.at(-1)?.value
  }

  /** Sorts by name and keeps the order of values. `values` replaces or removes arguments (ASCII only). */
  write(values: Readonly<Record<string, string | undefined>> = {}): string {
    this.#encoded ??= encodeByName(this.#byName)
    const names = this.#encoded.filter(({ name }) => !Object.hasOwn(values, name))
    for (const [name, value] of Object.entries(values)) {
      if (value === undefined) continue
      const behind = names.findIndex(other => other.name > name)
      names.splice(behind < 0 ? names.length : behind, 0, { name, text: `${name}=${encode(value)}` })
    }
    return names.map(({ text }) => text).join('&')
  }
}

interface EncodedName {
  name: string
  text: string
}

function encodeByName(byName: ReadonlyMap<string, readonly Argument[]>): EncodedName[] {
  // UTF-16 sorts characters beyond U+FFFF before U+E000; UTF-8 keeps the order of code points.
  const sorted = [...byName.keys()].map(name => ({ name, bytes: Buffer.from(name) }))
  sorted.sort((a, b) => Buffer.compare(a.bytes, b.bytes))
  return sorted.map(({ name }) => {
    const encodedName = encode(name)
    return { name, text: (byName.get(name) ?? []).map(({ value }) => `${encodedName}=${encode(value)}`).join('&') }
  })
}

function readArgument(part: string): Argument {
  const at = part.indexOf('=')
  if (at < 0) return { name: decodeField(part), value: '' }
  return { name: decodeField(part.slice(0, at)), value: decodeField(part.slice(at + 1)) }
}

/** `%zz` stays unchanged, and invalid UTF-8 becomes U+FFFD. */
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

export interface Paging {
  limit: number
  /** May exceed any number of files. Links repeat its digits. */
  offset: bigint
}

const limitUsual = 10
const limitMax = 100

/** Invalid numbers count as missing, without an error. */
export function readPaging(query: Query): Paging {
  const limit = readWhole(query.last('limit'))
  const offset = readWhole(query.last('offset'))
  return {
    limit: limit === undefined || limit <= 0n ? limitUsual : Number(limit < limitMax ? limit : limitMax),
    offset: offset === undefined || offset < 0n ? 0n : offset,
  }
}

function readWhole(text = ''): bigint | undefined {
  // The cost of parsing grows faster than the number of digits.
  if (text.length > valueCharactersMax) return undefined
  const [, sign, digits] = /^\s*([+-]?)(\d+)\s*$/.exec(text) ?? []
  if (digits === undefined) return undefined
  return sign === '-' ? -BigInt(digits) : BigInt(digits)
}

/** Arguments of the part that begins at `offset`. The first part has none. */
export function queryAt(query: Query, limit: number, offset: bigint): string {
  return query.write({ limit: `${limit}`, offset: offset <= 0n ? undefined : `${offset}` })
}

export interface Links {
  next: string | null
  previous: string | null
}

export function linksOf(address: string, query: Query, { limit, offset }: Paging, count: number): Links {
  const size = BigInt(limit)
  const link = (at: bigint) => `${address}?${queryAt(query, limit, at)}`
  return {
    next: offset + size >= count ? null : link(offset + size),
    previous: offset <= 0n ? null : link(offset - size),
  }
}
