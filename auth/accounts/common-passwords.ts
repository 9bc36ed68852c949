/** Lists passwords that guessers try first: some 50,000 from public leaks. */

import { dictionary } from '@zxcvbn-ts/language-common'

const common = new Set(dictionary['passwords-common'])

export function isCommonPassword(password: string): boolean {
  return common.has(password.toLowerCase())
}
