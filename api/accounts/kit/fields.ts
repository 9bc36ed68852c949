/** Declares fields of requests as zod types, with Pydantic's conversions and error texts. */

import { z } from 'zod'
import { emailForm, parseEmailAddress } from '../../../auth/accounts/email-address.ts'
import { type Fault, type FaultParameters, missing } from './validation.ts'

type Converted<Value> = { value: Value } | { fault: Fault }

/** `json` is the schema in the published contract. */
export function field<Value>(convert: (input: unknown) => Converted<Value>, json: Record<string, unknown>) {
  return z
    .any()
    .transform((input: unknown, context): Value => {
      const converted = input === undefined ? { fault: missing } : convert(input)
      if ('value' in converted) return converted.value
      const params: FaultParameters = { fault: converted.fault, input }
      context.issues.push({ code: 'custom', params: { ...params }, input })
      return z.NEVER
    })
    .meta(json)
}

export interface TextLimits {
  min?: number
  max?: number
  /** Passwords may have any character. */
  isPassword?: boolean
  description?: string
}

const withoutControls = '^[^\\u0000-\\u001f\\u007f]*$'

/** Lengths count code points. */
export function text({ min, max, isPassword = false, description }: TextLimits = {}) {
  const json = {
    type: 'string',
    ...(min === undefined ? {} : { minLength: min }),
    ...(max === undefined ? {} : { maxLength: max }),
    ...(isPassword ? { format: 'password', writeOnly: true } : { pattern: withoutControls }),
    ...(description === undefined ? {} : { description }),
  }
  return field<string>(input => convertText(input, { min, max, isPassword }), json)
}

type Limits = { min: number | undefined; max: number | undefined; isPassword: boolean }

function convertText(input: unknown, { min, max, isPassword }: Limits): Converted<string> {
  if (typeof input !== 'string') return fail('string_type', 'Input should be a valid string')
  if (!input.isWellFormed()) {
    const msg = 'Input should be a valid string, unable to parse raw data as a unicode string'
    return fail('string_unicode', msg)
  }
  const length = codePoints(input)
  if (min !== undefined && length < min) {
    return fail('string_too_short', `String should have at least ${counted(min)}`, { min_length: min })
  }
  if (max !== undefined && length > max) {
    return fail('string_too_long', `String should have at most ${counted(max)}`, { max_length: max })
  }
  return !isPassword && hasControls(input) ? failValue('control characters are not allowed') : { value: input }
}

/** Trims the address and converts its domain to lower case. */
export function email() {
  const convert = (input: unknown): Converted<string> => {
    if (typeof input !== 'string') return fail('string_type', 'Input should be a valid string')
    const parsed = parseEmailAddress(input)
    if (parsed.ok) return { value: parsed.email }
    const { reason } = parsed
    return fail('value_error', `value is not a valid email address: ${reason}`, { reason })
  }
  return field<string>(convert, { type: 'string', ...emailForm })
}

export interface IntegerLimits {
  min?: number
  max?: number
}

/** `"7"` is 7 and `true` is 1, as for Pydantic. */
export function integer({ min, max }: IntegerLimits = {}) {
  const json = {
    type: 'integer',
    ...(min === undefined ? {} : { minimum: min }),
    ...(max === undefined ? {} : { maximum: max }),
  }
  const convert = (input: unknown): Converted<number> => {
    const converted = convertInteger(input)
    if ('fault' in converted) return converted
    const { value } = converted
    if (min !== undefined && value < min) {
      return fail('greater_than_equal', `Input should be greater than or equal to ${min}`, { ge: min })
    }
    if (max !== undefined && value > max) {
      return fail('less_than_equal', `Input should be less than or equal to ${max}`, { le: max })
    }
    return converted
  }
  return field<number>(convert, json)
}

function convertInteger(input: unknown): Converted<number> {
  if (typeof input === 'boolean') return { value: Number(input) }
  if (typeof input === 'number') {
    if (Number.isInteger(input)) return { value: input }
    return fail('int_from_float', 'Input should be a valid integer, got a number with a fractional part')
  }
  if (typeof input !== 'string') return fail('int_type', 'Input should be a valid integer')
  const digits = input.trim()
  if (digits.length <= 4300 && /^[+-]?\d+(?:_\d+)*(?:\.0*)?$/.test(digits)) {
    return { value: Number(digits.replaceAll('_', '')) }
  }
  return fail('int_parsing', 'Input should be a valid integer, unable to parse string as an integer')
}

const trueWords = new Set<unknown>([true, 1, '1', 'true', 't', 'yes', 'y', 'on'])
const falseWords = new Set<unknown>([false, 0, '0', 'false', 'f', 'no', 'n', 'off'])

export function boolean() {
  const convert = (input: unknown): Converted<boolean> => {
    const word = typeof input === 'string' ? input.toLowerCase() : input
    if (trueWords.has(word)) return { value: true }
    if (falseWords.has(word)) return { value: false }
    if (typeof input === 'string' || typeof input === 'number') {
      return fail('bool_parsing', 'Input should be a valid boolean, unable to interpret input')
    }
    return fail('bool_type', 'Input should be a valid boolean')
  }
  return field<boolean>(convert, { type: 'boolean' })
}

function literalError(words: readonly string[]): Fault {
  // Texts are quoted as in Python.
  const quoted = words.map(word => (word.includes("'") ? `"${word}"` : `'${word}'`))
  const expected = `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}`
  return { type: 'literal_error', msg: `Input should be ${expected}`, ctx: { expected } }
}

export function oneOf<Word extends string>(words: readonly Word[]) {
  const fault = literalError(words)
  const convert = (input: unknown): Converted<Word> => {
    const found = words.find(word => word === input)
    return found === undefined ? { fault } : { value: found }
  }
  return field<Word>(convert, { type: 'string', enum: words })
}

/** Reports each element that is not one of the words. */
export function listOf<Word extends string>(words: readonly Word[], { default: usual }: { default: readonly Word[] }) {
  const notAWord = literalError(words)
  const isWord = (element: unknown): element is Word => words.some(word => word === element)
  return z
    .any()
    .transform((input: unknown, context): Word[] => {
      const raise = (fault: Fault, input: unknown, path: number[]) => {
        const params: FaultParameters = { fault, input }
        context.issues.push({ code: 'custom', params: { ...params }, input, path })
        return z.NEVER
      }
      if (!Array.isArray(input)) return raise({ type: 'list_type', msg: 'Input should be a valid list' }, input, [])
      if (input.length > listLengthMax) return raise(tooLong(input.length), input, [])
      for (const [at, element] of input.entries()) if (!isWord(element)) raise(notAWord, element, [at])
      return input
    })
    .meta({
      type: 'array',
      items: { type: 'string', enum: words },
      maxItems: listLengthMax,
      default: usual,
    })
}

/** Reports the first issue of the schema, with its place inside the field. */
export function checkedBy<Value>(schema: z.ZodType<Value>) {
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input' })
  const convert = (input: unknown): Converted<Value> => {
    const parsed = schema.safeParse(input)
    if (parsed.success) return { value: parsed.data }
    const { path = [], message = 'is invalid' } = parsed.error.issues[0] ?? {}
    // A list of texts is one text in a form, so a message about one of them names no place.
    const place = isListOfTexts(input) ? [] : path.map(String)
    return failValue([...place, message].join(' '))
  }
  return field<Value>(convert, json)
}

/** Bounds the size of the answer: it names each element. */
const listLengthMax = 20

function tooLong(actual: number): Fault {
  const msg = `List should have at most ${listLengthMax} items after validation, not ${actual}`
  return { type: 'too_long', msg, ctx: { field_type: 'List', max_length: listLengthMax, actual_length: actual } }
}

/** Narrows another field. `more` is merged into its published schema. */
export function refine(
  inner: ReturnType<typeof field<string>>,
  fault: (value: string) => string | undefined,
  more: Record<string, unknown> = {},
): ReturnType<typeof field<string>> {
  const { id: _, ...meta } = inner.meta() ?? {}
  const json = { ...meta, ...more }
  const convert = (input: unknown): Converted<string> => {
    const parsed = inner.safeParse(input)
    if (!parsed.success) return { fault: faultIn(parsed.error) }
    const message = fault(parsed.data)
    return message === undefined ? { value: parsed.data } : failValue(message)
  }
  return field<string>(convert, json)
}

function faultIn(error: z.ZodError): Fault {
  const [issue] = error.issues
  const params = issue !== undefined && 'params' in issue ? (issue.params as Partial<FaultParameters>) : {}
  if (params.fault === undefined) throw new Error('a field raises faults')
  return params.fault
}

/** Declares the fields of a body or an address. Unknown members are ignored; `aliases` are other names of fields. */
export function record<Shape extends z.ZodRawShape>(id: string, shape: Shape) {
  return z.object(shape).meta({ id, title: id })
}

function fail(type: string, msg: string, ctx?: Record<string, unknown>): { fault: Fault } {
  return { fault: { type, msg, ...(ctx === undefined ? {} : { ctx }) } }
}

/** Pydantic reports an exception of a validator in this form. */
function failValue(message: string): { fault: Fault } {
  return fail('value_error', `Value error, ${message}`, { error: {} })
}

function counted(count: number): string {
  return `${count} ${count === 1 ? 'character' : 'characters'}`
}

function codePoints(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

function isListOfTexts(input: unknown): boolean {
  return Array.isArray(input) && input.every(element => typeof element === 'string')
}
