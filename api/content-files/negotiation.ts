/**
 * Selects the form of an answer by `format` and Accept. Django REST framework ignores `q`: the more specific type wins,
 * then JSON before HTML. Libraries for RFC 9110 decide otherwise.
 */

export type Form = { kind: 'json'; indent: number } | { kind: 'api' }

export type Negotiated = { ok: true; form: Form } | { ok: false; code: 'FORMAT_UNKNOWN' | 'NOT_ACCEPTABLE' }

const renderers = [
  { kind: 'json', type: 'application', subtype: 'json' },
  { kind: 'api', type: 'text', subtype: 'html' },
] as const

interface MediaType {
  type: string
  subtype: string
  parameters: Map<string, string>
}

/** `accept` is undefined without the header. An empty `format` counts as missing. */
export function negotiate(accept: string | undefined, format: string | undefined): Negotiated {
  const wanted = format === undefined || format === '' ? renderers : renderers.filter(({ kind }) => kind === format)
  if (wanted.length === 0) return { ok: false, code: 'FORMAT_UNKNOWN' }
  const accepted = (accept ?? '*/*').split(',').map(readMediaType)
  for (const precedence of [3, 2, 1, 0]) {
    const group = accepted.filter(media => precedenceOf(media) === precedence)
    for (const renderer of wanted) {
      const media = group.find(({ type, subtype }) => {
        return (type === '*' || type === renderer.type) && (subtype === '*' || subtype === renderer.subtype)
      })
      if (media === undefined) continue
      const form: Form = renderer.kind === 'api' ? { kind: 'api' } : { kind: 'json', indent: indentOf(media) }
      return { ok: true, form }
    }
  }
  return { ok: false, code: 'NOT_ACCEPTABLE' }
}

function readMediaType(text: string): MediaType {
  const [name = '', ...rest] = text.split(';').map(part => part.trim())
  const lower = name.toLowerCase()
  const at = lower.indexOf('/')
  const parameters = new Map<string, string>()
  for (const part of rest) {
    const equals = part.indexOf('=')
    if (equals < 0) continue
    const value = part.slice(equals + 1).trim()
    parameters.set(part.slice(0, equals).trim().toLowerCase(), value.replace(/^"(.*)"$/s, '$1'))
  }
  return at < 0
    ? { type: lower, subtype: '', parameters }
    : { type: lower.slice(0, at), subtype: lower.slice(at + 1), parameters }
}

function precedenceOf({ type, subtype, parameters }: MediaType): number {
  if (type === '*') return 0
  if (subtype === '*') return 1
  const hasOnlyQ = parameters.size === 1 && parameters.has('q')
  return parameters.size === 0 || hasOnlyQ ? 2 : 3
}

const indentMax = 8

function indentOf({ parameters }: MediaType): number {
  const text = parameters.get('indent') ?? ''
  return /^[+-]?\d+$/.test(text.trim()) ? Math.min(Math.max(Number(text), 0), indentMax) : 0
}
