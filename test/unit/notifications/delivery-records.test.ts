import { expect, it } from 'vitest';
import { deliveriesOf } from '../../../src/notifications/delivery-records.ts';
import {
  emptyNotificationState,
  type NotificationState,
} from '../../../src/notifications/notification-state.ts';
import { sampleNotification } from '../../support/notifications/sample-notifications.ts';

it('lists the deliveries to a target, newest first, without what was sent', () => {
  const delivery = (id: string, targetId: string, createdAtMs: number) => ({
    id,
    targetId,
    status: 'failed' as const,
    createdAtMs,
    tries: 2,
    failuresInRow: 2,
    nextTryAtMs: createdAtMs,
    retryUntilMs: createdAtMs,
    lastTryAtMs: createdAtMs + 1000,
    lastError: { code: 'target_status' as const, message: 'status 500', status: 500 },
    notification: sampleNotification('firing'),
  });
  const arrived = {
    id: 'd3',
    targetId: 'page',
    createdAtMs: 5000,
    deliveredAtMs: 6000,
    tries: 1,
    notificationStatus: 'resolved' as const,
  };
  const state: NotificationState = {
    ...emptyNotificationState,
    deliveries: [delivery('d1', 'page', 1000), delivery('d2', 'other', 2000)],
    delivered: [arrived],
  };
  const alert = { id: 'A', title: 'Load' };
  const records = { statesOf: () => [{ alert, state }], retry: async () => 'not_found' as const };
  expect(deliveriesOf(records, 'default', 'page')).toEqual([
    {
      id: 'd3',
      alertId: 'A',
      alertTitle: 'Load',
      status: 'delivered',
      notificationStatus: 'resolved',
      createdAt: '1970-01-01T00:00:05.000Z',
      tries: 1,
      deliveredAt: '1970-01-01T00:00:06.000Z',
    },
    {
      id: 'd1',
      alertId: 'A',
      alertTitle: 'Load',
      status: 'failed',
      notificationStatus: 'firing',
      createdAt: '1970-01-01T00:00:01.000Z',
      tries: 2,
      lastTryAt: '1970-01-01T00:00:02.000Z',
      lastError: { code: 'target_status', message: 'status 500', status: 500 },
    },
  ]);
});
