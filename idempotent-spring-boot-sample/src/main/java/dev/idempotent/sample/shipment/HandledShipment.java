package dev.idempotent.sample.shipment;

/**
 * What the handlers of a shipment have tried and done.
 *
 * @param packAttempts the attempts to pack a parcel
 * @param parcels the parcels that are packed
 * @param rewardAttempts the attempts to credit a point, each with a call of the points
 * service
 */
record HandledShipment(long packAttempts, long parcels, long rewardAttempts) {

}
