/** The frame of all pages: the header, the navigation, and the page that the address shows. */

import { computed } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { addressOf, path, signInAddress, urlArguments } from './client/address.ts'
import { firingAlerts } from './client/firing.ts'
import { type Route, routeOf } from './client/routes.ts'
import { roleNames, visitor } from './client/session.ts'
import { pages } from './pages.ts'
import { PreferencesMenu } from './parts/preferences-menu.tsx'
import { ViewsMenu } from './parts/views-menu.tsx'
import { preferences } from './text/preferences.ts'
import { navigationFor, tracePath } from './theme/frame.ts'
import { countText, t, tp, words } from './words/words.ts'

const route = computed(() => routeOf(path.value))

export function App() {
  const shown = route.value
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const key = shown === undefined ? 'none' : keyOf(shown)
  // A screen reader goes on at the new page, as after the load of a document.
  useEffect(() => {
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [key])
  return (
    <>
      <a class="skip" href="#main">
        {t('Skip to the content')}
      </a>
      <header>
        <p>
          <a href={addressOf('/')}>Barograph</a>
        </p>
        <Trace />
        <PreferencesMenu />
        <ViewsMenu />
        <VisitorMenu />
      </header>
      <nav class="pages" aria-label={t('Pages')}>
        {navigationFor(visitor.value, words).map(({ page, name, path }) => (
          <a key={name} href={addressOf(path)} aria-current={page === shown?.page ? 'page' : undefined}>
            {name}
            {page === 'alerts' ? <FiringCount /> : null}
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1} ref={main}>
        {shown === undefined ? <Unknown /> : <Page key={`${key} ${JSON.stringify(preferences.value)}`} {...shown} />}
      </main>
    </>
  )
}

/** Two devices are two pages, as are two stations. The page itself handles the rest after `/admin/`. */
function keyOf(route: Route): string {
  if (route.page === 'station') return `station ${route.sn}`
  if (route.page === 'dashboard') return `dashboard ${route.id}`
  return route.page === 'device' ? `device ${route.name}` : route.page
}

function Page(route: Route) {
  const Shown = pages[route.page] as ComponentType<Route>
  return <Shown {...route} />
}

function Unknown() {
  return (
    <>
      <h1>{t('Not found')}</h1>
      <p>{tp('There is no page here. {link}', { link: <a href={addressOf('/')}>{t('To the fleet')}</a> })}</p>
    </>
  )
}

/** Renders nothing while no alert fires, and for visitors without a session. */
function FiringCount() {
  const count = firingAlerts.value.length
  if (count === 0) return null
  return (
    <span class="count">
      {countText(count)}
      <span class="unseen"> {t('firing')}</span>
    </span>
  )
}

function Trace() {
  return (
    <svg viewBox="0 0 1000 48" preserveAspectRatio="none" aria-hidden="true">
      <path d={tracePath} fill="none" vector-effect="non-scaling-stroke" />
    </svg>
  )
}

/** Renders nothing until the session is known. */
function VisitorMenu() {
  const who = visitor.value
  if (who === undefined) return null
  if (who === null) return <SignInLink />
  return (
    <>
      <p class="visitor">
        <a href={addressOf('/account')}>{who.name}</a>{' '}
        {who.role === undefined ? null : <span>{roleNames[who.role] ?? who.role}</span>}
      </p>
      <form method="post" action={addressOf('/sign-out')}>
        <button type="submit" class="button small">
          {t('Sign out')}
        </button>
      </form>
    </>
  )
}

function SignInLink() {
  // The address that the sign-in returns to changes with the page.
  path.value
  urlArguments.value
  return (
    <a class="button small" href={signInAddress()}>
      {t('Sign in')}
    </a>
  )
}
