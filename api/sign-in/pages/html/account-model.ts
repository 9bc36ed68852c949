/** Declares the model of the account page. */

import type { Words } from '../../../../analytics/findings/words.ts'
import type { Account } from '../../../../auth/accounts/account.ts'
import type { KeyDetails } from '../../../../auth/keys/key-lists.ts'
import type { NewKey } from '../../../../auth/keys/key-rows.ts'
import type { AccountService } from '../../../accounts/account-service.ts'
import type { FormState } from '../form.ts'

export interface AccountView {
  account: Account
  forms: Readonly<Record<string, FormState>>
  notice: string | undefined
  keys: readonly KeyDetails[]
  /** A new key, whose text is shown only once. */
  newKey?: NewKey
  nowMs: number
  /** True if a mail server is configured. */
  sendsMail: boolean
  reads: AccountService['settings']['reads']
  words: Words
}
