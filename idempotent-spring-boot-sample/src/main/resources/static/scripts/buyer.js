'use strict';

const OPENED_STOCK = 3;

let buyer = null;

/** The sale that was opened by hand. The sale of a rush is left to its users, on whom the verdict is. */
let openedItem = null;

function newBuyer() {
  buyer = { user: 'buyer-' + newKey().slice(0, 8), key: null, reservationId: null };
  showText('buyer-user', buyer.user);
  showText('buyer-key', 'none');
  offerSteps();
}

/** Enables the steps that have what they need: the opened sale, a key, a reservation. */
function offerSteps() {
  const open = openedItem !== null && item === openedItem;
  byId('door').disabled = !open;
  byId('reserve').disabled = !open;
  byId('reserve-again').disabled = !open || buyer.key === null;
  byId('order').disabled = !open || buyer.reservationId === null;
  byId('cancel').disabled = !open || buyer.reservationId === null;
  showText('buyer-item', open ? openedItem : 'none');
}

function openSale() {
  const command = { item: 'by-hand-' + newKey().slice(0, 8), stock: OPENED_STOCK, perUser: 1 };
  exchange('Open a sale', [post('/api/flash-sales', command, newKey(), '')], send).then((answers) => {
    if (answers[0].status === 201) {
      stopFollowing();
      openedItem = command.item;
      newBuyer();
      showSale(command.item);
      refresh();
    }
  });
}

function reserveWithNewKey() {
  buyer.key = newKey();
  showText('buyer-key', buyer.key);
  reserve('Reserve');
}

function reserve(title) {
  const reserving = buyer;
  const request = post(saleUrl('/reservations'), { userId: reserving.user }, reserving.key, '');
  offerSteps();
  exchange(title, [request], send).then((answers) => {
    if (answers[0].status === 201) {
      reserving.reservationId = parsed(answers[0].body).reservationId;
      offerSteps();
    }
  });
}

function reservationUrl(path) {
  return '/api/reservations/' + encodeURIComponent(buyer.reservationId) + path;
}

function step(title, method, url) {
  const request = { method: method, url: url, headers: {}, body: null, patienceMillis: 0, label: method + ' ' + url };
  exchange(title, [request], send);
}

function wireBuyer() {
  newBuyer();
  onClick('open', openSale);
  onClick('new-buyer', newBuyer);
  onClick('door', () => step('Look at the door', 'GET', saleUrl('/door')));
  onClick('reserve', reserveWithNewKey);
  onClick('reserve-again', () => reserve('Reserve again, same key'));
  onClick('order', () => step('Order', 'POST', reservationUrl('/order')));
  onClick('cancel', () => step('Cancel', 'DELETE', reservationUrl('')));
}
