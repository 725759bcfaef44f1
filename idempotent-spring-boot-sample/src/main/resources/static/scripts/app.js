'use strict';

showLegend();
wireOrder();
wireRedis();
wireComparison();
wirePaymentAndFeedback();
wireRace();
wireShipment();
wireSaga();
startOrder();
refresh();
followMeters();
window.addEventListener('resize', showKeys);
