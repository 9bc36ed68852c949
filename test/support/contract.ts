/** Holds answers to the published contract, by its JSON Schemas. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import type { Content, Json, OpenApiDocument, PublishedOperation } from '../../api/docs/contract.ts'

export interface ContractChecker {
  operation(method: string, path: string): PublishedOperation
  /** The violation, or undefined for a valid answer. An undeclared media type is invalid. */
  fault(content: Content | undefined, mediaType: string, value: unknown): string | undefined
}

export function createContractChecker({ paths, components }: OpenApiDocument): ContractChecker {
  // Components are compiled once, without inlining and optimization, which take most of the time.
  const ajv = new Ajv2020({ strict: false, allErrors: true, inlineRefs: false, code: { optimize: false } })
  ajvFormats.default(ajv)
  ajv.addSchema({ $id: 'contract', components })
  const compiled = new WeakMap<Json, ValidateFunction>()

  function compile(schema: Json): ValidateFunction {
    const known = compiled.get(schema)
    if (known !== undefined) return known
    const text = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"contract#/')
    const validate: ValidateFunction = ajv.compile(JSON.parse(text))
    compiled.set(schema, validate)
    return validate
  }

  return {
    operation(method, path) {
      const found = paths[path]?.[method.toLowerCase()]
      if (found === undefined) throw new Error(`${method} ${path} is not in the contract`)
      return found
    },
    fault(content, mediaType, value) {
      const schema = content?.[mediaType]?.schema
      if (schema === undefined) return `there is no ${mediaType}`
      const validate = compile(schema)
      return validate(value) ? undefined : ajv.errorsText(validate.errors)
    },
  }
}
