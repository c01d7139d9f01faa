"""Typed IR to Metal Shading Language: layout, schedule, lowering, text (`eas.msl.kernel`)."""
