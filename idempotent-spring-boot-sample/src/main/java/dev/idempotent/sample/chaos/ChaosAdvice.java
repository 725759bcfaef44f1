package dev.idempotent.sample.chaos;

import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;

/**
 * Applies the header {@code X-Chaos} when the key has been claimed; under
 * {@code Guarantee.TRANSACTION}, in the open transaction. An interceptor would be too
 * early.
 */
@ControllerAdvice
class ChaosAdvice {

	private final ChaosHeader header;

	ChaosAdvice(ChaosHeader header) {
		this.header = header;
	}

	@ModelAttribute
	void apply() throws InterruptedException {
		this.header.apply();
	}

}
