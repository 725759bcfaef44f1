package dev.idempotent.sample.stock;

import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * The sale of a limited number of units.
 *
 * @param item the item on sale: 1 to 200 characters, none of them a control character
 * @param stock the number of units, at least 1
 * @param perUser how many live reservations a user may have at a time, 1 to 10
 */
public record FlashSale(String item, int stock, int perUser) {

	private static final Pattern TEXT = Pattern.compile("[^\\p{Cc}\\p{Cs}]{1,200}");

	public FlashSale {
		Assert.isTrue(isText(item), "An item must have 1 to 200 characters, no control characters");
		Assert.isTrue(stock > 0, "The stock must be at least 1");
		Assert.isTrue(perUser > 0 && perUser <= 10, "The units per user must be 1 to 10");
	}

	/**
	 * Returns whether a text can be stored as an item, an owner or an id: control
	 * characters and halves of surrogate pairs cannot.
	 */
	static boolean isText(String text) {
		return TEXT.matcher(text).matches();
	}

}
