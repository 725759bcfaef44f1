'use strict';

showLegend();
wireOrder();
wireRedis();
wireComparison();
wirePaymentAndFeedback();
wireSaga();
startOrder();
refresh();
followMeters();
window.addEventListener('resize', showKeys);
