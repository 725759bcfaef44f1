package dev.idempotent.sample.stock;

/**
 * The decision of the gate about a request for a unit.
 */
enum Admission {

	/**
	 * The gate does not know the sale. It must be loaded first.
	 */
	ABSENT,

	/**
	 * The request may go on to the ledger. The gate has a ticket for it.
	 */
	GO,

	/**
	 * The owner has as many units as the sale allows.
	 */
	LIMIT,

	/**
	 * All units are taken or have a ticket.
	 */
	SOLD_OUT

}
