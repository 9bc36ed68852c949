/** What the page of an account shows. */

import type { Account } from '../../../../auth/accounts/account.ts'
import type { KeyDetails } from '../../../../auth/keys/key-lists.ts'
import type { NewKey } from '../../../../auth/keys/key-rows.ts'
import type { AccountService } from '../../../accounts/account-service.ts'
import type { FormState } from '../form.ts'

export interface AccountView {
  account: Account
  /** Of the forms that were sent and not accepted, by their name. */
  forms: Readonly<Record<string, FormState>>
  notice: string | undefined
  keys: readonly KeyDetails[]
  /** One that was just made: its text is shown this once. */
  newKey?: NewKey
  nowMs: number
  /** Whether a mail server is set up. */
  sendsMail: boolean
  reads: AccountService['settings']['reads']
}
