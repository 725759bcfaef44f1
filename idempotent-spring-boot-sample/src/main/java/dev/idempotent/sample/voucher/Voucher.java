package dev.idempotent.sample.voucher;

import java.util.UUID;

/**
 * A voucher for a user.
 */
record Voucher(UUID voucherId, String userId) {

}
