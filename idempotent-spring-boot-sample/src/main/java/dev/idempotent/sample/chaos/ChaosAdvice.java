package dev.idempotent.sample.chaos;

import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.RequestHeader;

/**
 * Reads the header {@code X-Chaos} and applies its delay, when the key has been claimed;
 * under {@code Guarantee.TRANSACTION}, in the open transaction. An interceptor would be
 * too early.
 */
@ControllerAdvice
class ChaosAdvice {

	private final ChaosProperties properties;

	ChaosAdvice(ChaosProperties properties) {
		this.properties = properties;
	}

	@ModelAttribute
	void read(@RequestHeader(name = "X-Chaos", required = false) @Nullable String header, HttpServletRequest request)
			throws InterruptedException {
		if (header != null && this.properties.enabled()) {
			ChaosRequest chaos = ChaosRequest.parse(header);
			request.setAttribute(Chaos.ATTRIBUTE, chaos);
			Thread.sleep(chaos.delay().toMillis());
		}
	}

}
