package dev.idempotent.autoconfigure.test.slice;

import java.util.Objects;

import dev.idempotent.idempotency.web.IdempotencyScopeResolver;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.stereotype.Component;

@Component
class TenantScope implements IdempotencyScopeResolver {

	@Override
	public String resolveScope(HttpServletRequest request) {
		return Objects.requireNonNullElse(request.getHeader("X-Tenant"), "");
	}

}
