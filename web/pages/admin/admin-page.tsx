/** The admin page. */

import { useTitle } from '../../client/use-title.ts'

export function AdminPage() {
  useTitle('Admin')
  return <h1>Admin</h1>
}
