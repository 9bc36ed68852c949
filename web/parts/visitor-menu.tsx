/** Who is signed in, with the way out; or the way in. The pages that the server renders have the same. */

import { addressOf, path, signInAddress, urlArguments } from '../client/address.ts'
import { visitor } from '../client/session.ts'

/** Nothing while it is not known. */
export function VisitorMenu() {
  const who = visitor.value
  if (who === undefined) return null
  if (who === null) return <SignInLink />
  return (
    <>
      <p class="visitor">
        <a href={addressOf('/account')}>{who.name}</a> {who.role === undefined ? null : <span>{who.role}</span>}
      </p>
      <form method="post" action={addressOf('/sign-out')}>
        <button type="submit" class="button small">
          Sign out
        </button>
      </form>
    </>
  )
}

function SignInLink() {
  // Where the sign-in comes back to changes with the page.
  path.value
  urlArguments.value
  return (
    <a class="button small" href={signInAddress()}>
      Sign in
    </a>
  )
}
