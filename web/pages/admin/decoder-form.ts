/** The fields of a decoder as a person edits them, and its declaration. */

import type { DecoderDetails, NewDecoder } from '../../../api/admin/answers.ts'
import type { PlaceError } from '../../client/send-change.ts'

export interface RuleForm {
  path: string
  /** Empty: the field is left out. */
  metric: string
  unit: string
}

/** Lists have an element a line. */
export interface DecoderForm {
  name: string
  topics: string
  device: string
  time: string
  each: string
  values: string
  rules: readonly RuleForm[]
  dropsOthers: boolean
  hasTexts: boolean
}

export const emptyForm: DecoderForm = {
  name: '',
  topics: '',
  device: '',
  time: '',
  each: '',
  values: '',
  rules: [],
  dropsOthers: false,
  hasTexts: false,
}

export function formOf(decoder: DecoderDetails): DecoderForm {
  const { name, topics = [], device, time = [], each, values = [], fields = [], drops_others, has_texts } = decoder
  return {
    name,
    topics: topics.join('\n'),
    device: device.join('\n'),
    time: time.join('\n'),
    each: each === '' ? wholeMessage : (each ?? ''),
    values: values.map(value => (value === '' ? wholeMessage : value)).join('\n'),
    rules: fields.map(({ path, metric, unit = '' }) => ({ path, metric: metric ?? '', unit })),
    dropsOthers: drops_others === true,
    hasTexts: has_texts === true,
  }
}

/** The empty pointer, which a field cannot show. */
const wholeMessage = '/'

export function declarationOf(form: DecoderForm): Omit<NewDecoder, 'name'> {
  const [topics, device, time] = [form.topics, form.device, form.time].map(linesOf) as [string[], string[], string[]]
  const values = linesOf(form.values).map(pointerOf)
  const each = form.each.trim()
  const fields = form.rules
    .filter(({ path, metric }) => path.trim() !== '' || metric.trim() !== '')
    .map(({ path, metric, unit }) => ({
      path: path.trim(),
      metric: metric.trim() === '' ? null : metric.trim(),
      ...(unit.trim() !== '' && { unit: unit.trim() }),
    }))
  return {
    ...(topics.length > 0 && { topics }),
    device,
    ...(time.length > 0 && { time }),
    ...(each !== '' && { each: pointerOf(each) }),
    ...(values.length > 0 && { values }),
    ...(fields.length > 0 && { fields }),
    ...(form.dropsOthers && { drops_others: true }),
    ...(form.hasTexts && { has_texts: true }),
  }
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map(line => line.trim())
    .filter(line => line !== '')
}

function pointerOf(text: string): string {
  return text === wholeMessage ? '' : text
}

/** Begins with a topic whose last level names the device, or with a webhook. */
export function formFrom({ way, place }: { way: string; place: string }, form: DecoderForm): DecoderForm {
  if (way === 'webhook') return { ...form, name: place }
  const levels = place.split('/')
  const topic = [...levels.slice(0, -1), '{device}'].join('/')
  return { ...form, topics: topic, device: form.device === '' ? '{device}' : form.device }
}

/** The faults of a field, such as `topics` or `fields[2].unit`, and of its elements. */
export function faultsOf(errors: readonly PlaceError[], field: string): string | undefined {
  const found = errors.filter(({ path }) => path === field || path.startsWith(`${field}[`))
  return found.length === 0 ? undefined : found.map(({ message }) => message).join('; ')
}
