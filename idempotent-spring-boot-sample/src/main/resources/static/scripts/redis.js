'use strict';

const REDIS = '/api/chaos/redis';

/** Shows whether Redis is available. Without the switches, their buttons stay disabled. */
function refreshRedis() {
  return get(REDIS).then((answer) => {
    const known = answer.status === 200;
    const state = parsed(answer.body);
    ['redis-cut', 'redis-restore', 'redis-wipe'].forEach((id) => {
      byId(id).disabled = true;
    });
    if (known) {
      byId('redis-cut').disabled = !state.available;
      byId('redis-wipe').disabled = false;
      byId('redis-restore').disabled = state.available;
    }
    showText('redis-state', known ? stateText(state) : 'Cannot be switched here. ' + (state.detail || ''));
    byId('redis').className = 'choices' + (known ? (state.available ? ' up' : ' down') : '');
  });
}

function stateText(state) {
  if (!state.available) {
    return 'Cut off';
  }
  return 'Available' + (state.wipes > 0 ? ', wiped ' + (state.wipes === 1 ? 'once' : state.wipes + ' times') : '');
}

function switchRedis(action) {
  return send(post(REDIS, { action: action }, null, '')).then(refreshRedis);
}

function wireRedis() {
  onClick('redis-cut', () => switchRedis('cut'));
  onClick('redis-restore', () => switchRedis('restore'));
  onClick('redis-wipe', () => switchRedis('wipe'));
}
