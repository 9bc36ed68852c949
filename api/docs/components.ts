/** The schemas of a contract, as JSON Schema: those that have an id are components, and are referred to. */

import { z } from 'zod'
import { addOnce, type Json, type Parameter } from './contract.ts'
import { adaptToGenerators } from './generator-forms.ts'

/** What is sent, or what is answered. */
type Direction = 'input' | 'output'

export interface Components {
  /** All so far, by id. */
  schemas: Json
  reference(schema: z.ZodType, direction: Direction): Json
  /** One for each member of the object. */
  parameters(schema: z.ZodType | undefined, place: Parameter['in']): Parameter[]
}

export function createComponents(): Components {
  const schemas: Json = {}

  function reference(schema: z.ZodType, direction: Direction): Json {
    const { definitions, own } = jsonSchemaOf(schema, direction)
    for (const [name, definition] of Object.entries(definitions)) addOnce(schemas, name, definition)
    const { id } = schema.meta() ?? {}
    if (id === undefined || own['$ref'] !== undefined) return own
    addOnce(schemas, id, own)
    return { $ref: `#/components/schemas/${id}` }
  }

  function parameters(schema: z.ZodType | undefined, place: Parameter['in']): Parameter[] {
    if (schema === undefined) return []
    const { definitions, own } = jsonSchemaOf(schema, 'input')
    // One with an id stands among the definitions.
    const object = own['$ref'] === undefined ? own : Object.values(definitions)[0]
    const { properties = {}, required = [] } = object as { properties?: Record<string, Json>; required?: string[] }
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: place,
      required: required.includes(name),
      ...(typeof description === 'string' ? { description } : {}),
      schema: rest,
    }))
  }

  return { schemas, reference, parameters }
}

/** With references to components, where zod has them to definitions beside the schema. */
function jsonSchemaOf(schema: z.ZodType, direction: Direction): { definitions: Record<string, Json>; own: Json } {
  const json = z.toJSONSchema(schema, { io: direction, unrepresentable: 'any' })
  const text = JSON.stringify(adaptToGenerators(json)).replaceAll('"#/$defs/', '"#/components/schemas/')
  const { $defs = {}, $schema: _, ...own } = JSON.parse(text) as Json & { $defs?: Record<string, Json> }
  const definitions = Object.entries($defs).map(([name, definition]) => [name, withoutId(definition)] as const)
  return { definitions: Object.fromEntries(definitions), own: withoutId(own) }
}

function withoutId({ id: _, ...rest }: Json): Json {
  return rest
}
