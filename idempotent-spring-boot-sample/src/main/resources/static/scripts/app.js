'use strict';

wireClicks();
wireLost();
wireCommit();
wireRace();
wireShipment();
wireSaga();
wireWaiting();
wireAgent();
