package dev.idempotent.sample.voucher;

import jakarta.validation.constraints.NotBlank;

/**
 * A request for a user's welcome voucher.
 */
record GrantVoucher(@NotBlank String userId) {

}
