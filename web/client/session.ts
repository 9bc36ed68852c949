/** Whether somebody is signed in, as far as the page knows. */

import { signal } from '@preact/signals'

/** True once the account has answered; a session that ends afterwards shows at the next request. */
export const isSignedIn = signal(false)
