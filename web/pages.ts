/** The pages of the app. Each is loaded when it is first shown. */

import type { ComponentType } from 'preact'
import type { Route } from './client/routes.ts'
import { lazy } from './parts/loading.tsx'
import { t } from './words/words.ts'

export const pages = {
  fleet: lazy(t('page'), () => import('./pages/fleet/fleet-page.tsx').then(module => module.FleetPage)),
  device: lazy(t('page'), () => import('./pages/device/device-page.tsx').then(module => module.DevicePage)),
  station: lazy(t('page'), () => import('./pages/station/station-page.tsx').then(module => module.StationPage)),
  compare: lazy(t('page'), () => import('./pages/compare/compare-page.tsx').then(module => module.ComparePage)),
  charts: lazy(t('page'), () => import('./pages/charts/charts-page.tsx').then(module => module.ChartsPage)),
  dashboard: lazy(t('page'), () => import('./pages/dashboard/dashboard-page.tsx').then(module => module.DashboardPage)),
  alerts: lazy(t('page'), () => import('./pages/alerts/alerts-page.tsx').then(module => module.AlertsPage)),
  admin: lazy(t('page'), () => import('./pages/admin/admin-page.tsx').then(module => module.AdminPage)),
} satisfies Record<Route['page'], ComponentType<never>>
