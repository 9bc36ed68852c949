/**
 * Parses addresses of people: plain ASCII, one "@", and a domain with a dot that mail can reach. Stricter than the
 * standard, since an address identifies an account. The error texts are from the Python package email-validator.
 */

export type EmailAddress = { ok: true; email: string } | { ok: false; reason: string }

const bytesMax = 254
const localMax = 64
const labelMax = 63

/** Top-level names without public mail servers (RFC 6761, RFC 7686, RFC 8375). */
const reserved = new Set(['arpa', 'invalid', 'local', 'localhost', 'onion', 'test'])

const localCharacters = /^[a-z0-9!#$%&'*+\-/=?^_`{|}~.]$/i
const domainCharacters = /^[a-z0-9.-]$/i

const anyCase = (word: string) => word.replace(/[a-z]/g, letter => `[${letter.toUpperCase()}${letter}]`)
const localText = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~]+"
const label = '[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*'
const topLabel = '(?:[0-9]+-+)*[0-9]*[A-Za-z][A-Za-z0-9]*(?:-+[A-Za-z0-9]+)*'
const otherThanReserved = `(?!(?:${[...reserved].map(anyCase).join('|')})$)`

/** Pattern in the published contract. It omits the lengths of the parts and the trimming. */
export const emailForm = {
  format: 'email',
  maxLength: bytesMax,
  pattern: `^${localText}(?:\\.${localText})*@(?:${label}\\.)+${otherThanReserved}${topLabel}$`,
}

/** Trims, and lowers the case of the domain only. */
export function parseEmailAddress(text: string): EmailAddress {
  const trimmed = text.trim()
  const at = trimmed.lastIndexOf('@')
  const local = trimmed.slice(0, Math.max(at, 0))
  const domain = trimmed.slice(at + 1).toLowerCase()
  const reason = at < 0 ? 'An email address must have an @-sign.' : (localFault(local) ?? domainFault(domain))
  if (reason !== undefined) return { ok: false, reason }
  const over = local.length + 1 + domain.length - bytesMax
  if (over > 0) return { ok: false, reason: `The email address is too long (${charactersOver(over)}).` }
  return { ok: true, email: `${local}@${domain}` }
}

/** Key of an account: addresses are compared without regard to case. */
export function emailKeyOf(email: string): string {
  return email.trim().toLowerCase()
}

function localFault(local: string): string | undefined {
  if (local === '') return 'There must be something before the @-sign.'
  const over = local.length - localMax
  if (over > 0) return `The email address is too long before the @-sign (${charactersOver(over)}).`
  const wrong = charactersBeside(local, localCharacters)
  if (wrong !== '') return `The email address contains invalid characters before the @-sign: ${wrong}.`
  if (local.startsWith('.')) return 'An email address cannot start with a period.'
  if (local.endsWith('.')) return 'An email address cannot have a period immediately before the @-sign.'
  return local.includes('..') ? 'An email address cannot have two periods in a row.' : undefined
}

function domainFault(domain: string): string | undefined {
  if (domain === '') return 'There must be something after the @-sign.'
  const over = domain.length - bytesMax
  if (over > 0) return `The email address is too long after the @-sign (${charactersOver(over)}).`
  const wrong = charactersBeside(domain, domainCharacters)
  if (wrong !== '') return `The part after the @-sign contains invalid characters: ${wrong}.`
  if (domain.startsWith('.')) return 'An email address cannot have a period immediately after the @-sign.'
  if (domain.endsWith('.')) return 'An email address cannot end with a period.'
  if (domain.includes('..')) return 'An email address cannot have two periods in a row.'
  const labels = domain.split('.')
  return labels.map(labelFault).find(fault => fault !== undefined) ?? nameFault(domain, labels)
}

function labelFault(label: string): string | undefined {
  const over = label.length - labelMax
  if (over > 0) return `After the @-sign, periods cannot be separated by so many characters (${charactersOver(over)}).`
  if (label.startsWith('-') || label.endsWith('-')) {
    return 'After the @-sign, a part between periods cannot start or end with a hyphen.'
  }
  return undefined
}

function nameFault(domain: string, labels: readonly string[]): string | undefined {
  const top = labels.at(-1) ?? ''
  if (reserved.has(top)) {
    return `The part after the @-sign is a special-use or reserved name that cannot be used with email: ${domain}.`
  }
  if (labels.length < 2) return 'The part after the @-sign is not valid. It should have a period.'
  if (!/[a-z]/.test(top)) return 'The part after the @-sign is not valid. It is not within a valid top-level domain.'
  return undefined
}

function charactersOver(count: number): string {
  return `${count} ${count === 1 ? 'character' : 'characters'} too many`
}

/** The first few distinct invalid characters in printable form. */
function charactersBeside(text: string, allowed: RegExp): string {
  const wrong = new Set([...text].filter(character => !allowed.test(character)))
  return [...wrong].slice(0, 5).map(shown).join(', ')
}

function shown(character: string): string {
  if (character === ' ') return 'SPACE'
  return /^[\x21-\x7e]$/.test(character) ? `'${character}'` : `U+${hex(character)}`
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
}
