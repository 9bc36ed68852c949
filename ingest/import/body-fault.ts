/** What is wrong with a body as a whole, thrown by whoever reads it. */

export type BodyFaultCode = 'BODY_BROKEN' | 'PAYLOAD_TOO_LARGE' | 'TIMEOUT' | 'JSON_INVALID'

export class BodyFault extends Error {
  readonly code: BodyFaultCode

  constructor(code: BodyFaultCode, reason: string) {
    super(reason)
    this.code = code
  }
}
