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
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajvFormats.default(ajv)
  // Each schema is compiled once, since it includes all components.
  const compiled = new WeakMap<Json, ValidateFunction>()

  function compile(schema: Json): ValidateFunction {
    const validate = compiled.get(schema) ?? ajv.compile({ ...schema, components })
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
