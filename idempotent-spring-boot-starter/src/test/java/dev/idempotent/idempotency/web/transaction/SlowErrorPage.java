package dev.idempotent.idempotency.web.transaction;

import java.util.Map;

import dev.idempotent.testing.Gate;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.web.error.ErrorAttributeOptions;
import org.springframework.boot.webmvc.error.DefaultErrorAttributes;
import org.springframework.stereotype.Component;
import org.springframework.web.context.request.WebRequest;

/**
 * Error pages that a test can delay.
 */
@Component
class SlowErrorPage extends DefaultErrorAttributes {

	volatile @Nullable Gate gate;

	@Override
	public Map<String, @Nullable Object> getErrorAttributes(WebRequest webRequest, ErrorAttributeOptions options) {
		Gate closed = this.gate;
		if (closed != null) {
			try {
				closed.pass();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}
		return super.getErrorAttributes(webRequest, options);
	}

}
