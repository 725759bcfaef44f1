package dev.idempotent.sample.sale;

import dev.idempotent.sample.stock.FlashSale;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

/**
 * A request that puts an item on sale, and its response.
 */
record OpenSale(@NotNull @Pattern(regexp = OpenSale.NAME) String item, @Min(1) @Max(1_000_000) int stock,
		@Min(1) @Max(10) int perUser) {

	/**
	 * The names of items and users. Such a name fits into a path, a key of Redis and a
	 * text of PostgreSQL as it is.
	 */
	static final String NAME = "[A-Za-z0-9][A-Za-z0-9._@-]{0,63}";

	FlashSale sale() {
		return new FlashSale(this.item, this.stock, this.perUser);
	}

}
