package dev.idempotent.sample.voucher;

import jakarta.validation.Valid;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

@RestController
class VoucherController {

	private final Vouchers vouchers;

	VoucherController(Vouchers vouchers) {
		this.vouchers = vouchers;
	}

	@PostMapping("/api/vouchers/welcome")
	Voucher welcome(@Valid @RequestBody GrantVoucher command) {
		return this.vouchers.welcome(command.userId());
	}

}
