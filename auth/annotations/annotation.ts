/** Declares annotations: a person's text at a moment or over a range of time, on one device or all devices. */

import { z } from 'zod'
import { composed, plainText } from '../../store/plain-text.ts'

/** `perDevice` also bounds annotations of all devices. */
export const bounds = { textMax: 256, perDevice: 1000 } as const

const time = z.iso
  .datetime({ offset: true, error: 'must be ISO 8601 with a zone' })
  .refine(text => Date.parse(text) >= 0, 'must not be before 1970')
const text = plainText({ min: 1, max: bounds.textMax })
  .overwrite(composed)
  .refine(given => given.trim() !== '', 'must not be blank')
const device = z.string().min(1).max(512).overwrite(composed)

const from = time.meta({ description: 'The moment, or the start of the range' })
const to = time.nullable().meta({ description: 'Exclusive end; null for a single moment' })

export const NewAnnotation = z
  .strictObject({
    device: device
      .nullable()
      .meta({ description: 'The name of a device; null: all devices, which needs an administrator' }),
    from,
    to: to.default(null),
    text,
  })
  .superRefine((given, context) => {
    if (!isInOrder(given)) context.addIssue({ code: 'custom', path: ['to'], message: orderMessage })
  })
export type NewAnnotation = z.infer<typeof NewAnnotation>

export const AnnotationChange = z
  .strictObject({ from, to, text })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })
export type AnnotationChange = z.infer<typeof AnnotationChange>

export const orderMessage = 'must be later than from'

export function isInOrder({ from, to }: { from: string; to: string | null }): boolean {
  return to === null || Date.parse(to) > Date.parse(from)
}

export const Annotation = z.object({
  id: z.int(),
  device: z.string().nullable().meta({ description: 'Null: all devices' }),
  from: z.iso.datetime(),
  to: z.iso.datetime().nullable().meta({ description: 'Null for a single moment' }),
  text: z.string(),
  by: z.string().nullable().meta({ description: 'Name of the author; null if unknown' }),
  written_at: z.iso.datetime(),
})
export type Annotation = z.infer<typeof Annotation>

/** Fields for readers of the device. */
export const DeviceAnnotations = z.object({
  device: z.string(),
  may_annotate: z
    .boolean()
    .meta({ description: 'Whether the caller may add, change and remove annotations of this device' }),
  may_annotate_all: z.boolean().meta({ description: 'Whether the caller may change annotations of all devices' }),
  annotations: z
    .array(Annotation)
    .meta({ description: 'Ascending by `from`. Only signed-in callers see the authors.' }),
})
export type DeviceAnnotations = z.infer<typeof DeviceAnnotations>
